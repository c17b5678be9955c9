package queue

// spares bounds how many records of users who are gone are kept for others.
const spares = 1024

func (q *Queue) find(key string) *user {
	if u := q.users[key]; u != nil {
		return u
	}
	if q.users == nil {
		q.users = make(map[string]*user)
	}
	u := new(user)
	if n := len(q.spare); n > 0 {
		u, q.spare = q.spare[n-1], q.spare[:n-1]
	}
	*u = user{key: key, index: -1}
	q.users[key] = u
	return u
}

// forget removes a user who has nothing waiting and nothing out.
func (q *Queue) forget(u *user) {
	delete(q.users, u.key)
	*u = user{}
	if len(q.spare) < spares {
		q.spare = append(q.spare, u)
	}
}

// ready is a heap of users, the one with the oldest message first.
type ready []*user //nolint:recvcheck // as package heap has it

func (r ready) Len() int           { return len(r) }
func (r ready) Less(i, j int) bool { return r[i].first.Seq < r[j].first.Seq }

func (r ready) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].index, r[j].index = i, j
}

// Push is for package heap.
func (r *ready) Push(x any) {
	u := x.(*user)
	u.index = len(*r)
	*r = append(*r, u)
}

// Pop is for package heap.
func (r *ready) Pop() any {
	n := len(*r) - 1
	u := (*r)[n]
	(*r)[n] = nil
	*r = (*r)[:n]
	u.index = -1
	return u
}

// link puts a message at the young end of the list of all that wait.
func (q *Queue) link(m *Message) { q.linkBefore(m, nil) }

// linkBefore puts a message before another of the list, or at its young end.
func (q *Queue) linkBefore(m, other *Message) {
	older := q.newest
	if other != nil {
		older = other.older
		other.older = m
	} else {
		q.newest = m
	}
	if m.older, m.newer = older, other; older == nil {
		q.oldest = m
	} else {
		older.newer = m
	}
}

func (q *Queue) unlink(m *Message) {
	if m.older == nil {
		q.oldest = m.newer
	} else {
		m.older.newer = m.newer
	}
	if m.newer == nil {
		q.newest = m.older
	} else {
		m.newer.older = m.older
	}
	m.older, m.newer = nil, nil
}
