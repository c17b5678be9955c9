package wstopic

// Regulations takes in the records about single users, in the order of their topic: deletion requests, and who is suppressed. There may be hundreds of
// thousands of the latter, so they are no part of a snapshot.
type Regulations interface {
	Apply(key, value []byte) error
}

// RenewableRegulations can be read from the start of a topic again, which may be
// another one by then, while what was in force stays so.
type RenewableRegulations interface {
	Regulations
	// Renew returns what takes in the records from the start of the topic, and what
	// puts them in force once all of them were read. What was in force before and is
	// not in the topic stays in force; finish returns how many suppressed users and
	// unfinished requests that are.
	Renew() (apply func(key, value []byte) error, finish func() (users, requests int))
}

// handOver has the tail hand over the records about users. The result puts those in
// force that stood in the topic, once they were read.
func (f *Follower) handOver(t *tail) (finish func()) {
	if f.set.Regulations == nil {
		return func() {}
	}
	apply, done := f.set.Regulations.Renew()
	t.users = apply
	return func() {
		t.users = f.set.Regulations.Apply
		if users, requests := done(); users+requests > 0 {
			f.log.Error("a topic no longer holds suppressions or deletion requests that were accepted; they stay in force in this process until it ends: send these requests again",
				"topic", f.topic, "suppressed_users", users, "unfinished_requests", requests)
		}
	}
}
