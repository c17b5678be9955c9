package door

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

const (
	cookieName = "anabranch-console"
	// sessionLife is how long a session lasts, whatever is done in it.
	sessionLife = 12 * time.Hour
	// maxSessions bounds them. The oldest one makes room.
	maxSessions = 1000
)

// sessions are those who have logged in, until the process ends. They are known by a hash: a
// look-up that stops at the first byte that differs says nothing of use.
type sessions struct {
	mu   sync.Mutex
	live map[[sha256.Size]byte]session
}

type session struct {
	name string
	ends time.Time
}

// begin returns what the cookie of a new session holds.
func (s *sessions) begin(name string, now time.Time) string {
	value := rand.Text() // 128 bits at least
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = make(map[[sha256.Size]byte]session)
	}
	s.makeRoom(now)
	s.live[sha256.Sum256([]byte(value))] = session{name, now.Add(sessionLife)}
	return value
}

// makeRoom removes sessions that are over, and the oldest of too many.
func (s *sessions) makeRoom(now time.Time) {
	var oldest [sha256.Size]byte
	first := now.Add(sessionLife)
	for id, one := range s.live {
		switch {
		case !now.Before(one.ends):
			delete(s.live, id)
		case !one.ends.After(first):
			oldest, first = id, one.ends
		}
	}
	if len(s.live) >= maxSessions {
		delete(s.live, oldest)
	}
}

// find returns whose session a request is of.
func (s *sessions) find(r *http.Request, now time.Time) (name string, in bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, in := s.live[id(r)]
	if !in || !now.Before(one.ends) {
		return "", false
	}
	return one.name, true
}

// end ends the session of a request, and returns whose it was.
func (s *sessions) end(r *http.Request) (name string, in bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, in := s.live[id(r)]
	delete(s.live, id(r))
	return one.name, in
}

// id is by what the session of a request is known. No session has that of an empty value.
func id(r *http.Request) [sha256.Size]byte {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return sha256.Sum256(nil)
	}
	return sha256.Sum256([]byte(cookie.Value))
}
