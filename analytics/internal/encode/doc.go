// Package encode writes calls as JSON while the caller waits, so that no map of
// the caller's is read later.
//
// It writes what encoding/json would write, without its reflection for the types
// that properties and traits are made of, and with two differences: "<", ">"
// and "&" stay as they are, and an object that grows beyond a limit or nests too
// deeply is given up on the way, not when it is complete: a refusal costs nothing
// like what is refused. Whatever has a type of its own goes to encoding/json,
// unless it is sure to be too large before (weigh.go).
package encode
