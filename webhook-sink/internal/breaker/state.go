package breaker

// Permit is what Admit says to an attempt. The same value goes back with what
// became of the attempt.
type Permit uint8

// The permits.
const (
	Refused Permit = iota // no attempt may be made
	Granted               // the breaker is closed
	Probe                 // the breaker is open; this is the one attempt that finds out whether it may close
)

// String is the word for logs and tests.
func (p Permit) String() string {
	switch p {
	case Refused:
		return "refused"
	case Granted:
		return "granted"
	case Probe:
		return "probe"
	default:
		return "unknown"
	}
}

// State is where a breaker stands.
type State uint8

// The states.
const (
	Closed  State = iota // attempts are made
	Open                 // none is, until the pause is over
	Probing              // one is under way, all others are refused
)

// Counts is how many breakers are in each [State].
type Counts [Probing + 1]int

// String is the word for logs and tests.
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case Open:
		return "open"
	case Probing:
		return "probing"
	default:
		return "unknown"
	}
}
