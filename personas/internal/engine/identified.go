package engine

// Identified reports whether a call with a user id was ever folded: the user's id is one
// then, and an anonymous one otherwise.
func (p *Profile) Identified() bool { return p.identified }
