package doctor

import "time"

// Level says how bad a finding is.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, or will, but not as well or as long as it might
	Problem Level = "problem" // it can't work so
)

// Finding is what a check found. Its JSON is for programs: names stay, and what is
// added later is added to the end.
type Finding struct {
	Check Check  `json:"check"`
	About string `json:"about"` // a broker, a topic, a destination, a setting; may be empty
	Level Level  `json:"level"`
	Found string `json:"found"`
	Do    string `json:"do"` // empty where there is nothing to do
}

// Check is the name of a check.
type Check string

// The checks, in the order in which they are made.
const (
	CheckSettings    Check = "settings"
	CheckFiles       Check = "files"
	CheckMemory      Check = "memory"
	CheckData        Check = "data"
	CheckBrokers     Check = "brokers"
	CheckVersions    Check = "versions"
	CheckPermissions Check = "permissions"
	CheckTopics      Check = "topics"
	CheckGroups      Check = "groups"
	CheckRetention   Check = "retention"
	CheckOffsets     Check = "offsets"
	// CheckTransactions is about those that nobody will end.
	CheckTransactions Check = "transactions"
	CheckClock        Check = "clock"
	CheckUsers        Check = "users"
	CheckWorkspace    Check = "workspace"
)

// Diagnosis is all that was found.
type Diagnosis struct {
	At       time.Time `json:"at"`
	Problems int       `json:"problems"`
	Warnings int       `json:"warnings"`
	Findings []Finding `json:"findings"`
}

func diagnose(at time.Time, findings []Finding) *Diagnosis {
	d := &Diagnosis{At: at, Findings: findings}
	for _, f := range findings {
		switch f.Level {
		case Problem:
			d.Problems++
		case Warning:
			d.Warnings++
		case OK:
		}
	}
	return d
}

// findings collects what one check has to say.
type findings struct {
	check Check
	all   []Finding
}

func (f *findings) ok(about, found string) {
	f.all = append(f.all, Finding{Check: f.check, About: about, Level: OK, Found: found})
}

func (f *findings) warn(about, found, do string) {
	f.all = append(f.all, Finding{Check: f.check, About: about, Level: Warning, Found: found, Do: do})
}

func (f *findings) problem(about, found, do string) {
	f.all = append(f.all, Finding{Check: f.check, About: about, Level: Problem, Found: found, Do: do})
}

// otherwise says that all is well where nothing else was said.
func (f *findings) otherwise(found string) []Finding {
	if len(f.all) == 0 {
		f.ok("", found)
	}
	return f.all
}
