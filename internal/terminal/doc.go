// Package terminal writes what commands show to people: rows below each other,
// times, text from elsewhere such that a terminal does not act on it, JSON, and how near a
// misspelt name is to another.
//
// # Non-obvious
//
//   - encoding/json and slog escape the controls below U+0020 alone: DEL and C1 controls, which many terminals obey, and bidi
//     overrides, which show a text as another, come through (TestJSONShowsWhatItSays; TestLogsDoNothingToATerminal in
//     internal/telemetry).
package terminal
