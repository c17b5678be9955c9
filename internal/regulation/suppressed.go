package regulation

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"sync/atomic"
)

// userHash stands for a user id: the first half of its SHA-256. To find two ids
// with one hash would take 2^64 tries.
type userHash [sha256.Size / 2]byte

func hashOf(userID []byte) userHash {
	sum := sha256.Sum256(userID)
	return userHash(sum[:])
}

// String returns 32 hexadecimal digits.
func (h userHash) String() string { return hex.EncodeToString(h[:]) }

func parseHash(text string) (h userHash, ok bool) {
	if len(text) != hex.EncodedLen(len(h)) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(text))
	return h, err == nil && h.String() == text
}

// Suppressed are the users whose calls are dropped. The zero value is empty; all methods
// may be called at the same time.
type Suppressed struct {
	users users
	// Of the topic `workspace`, where earlier releases wrote: who is suppressed there,
	// and of those, who no longer is. Nil: it is not followed.
	former *users
	lifted users
}

// Len returns how many users are suppressed. Who is so in both topics counts twice.
func (s *Suppressed) Len() int { return s.users.len() + s.former.len() - s.lifted.len() }

// Has tells whether the user with an id is suppressed: the text of the id as it
// stands in events, not its JSON. It allocates nothing, and costs next to nothing
// while nobody is suppressed.
func (s *Suppressed) Has(userID []byte) bool {
	if s.users.len() == 0 && s.former.len() == 0 {
		return false
	}
	hash := hashOf(userID)
	return s.users.has(hash) || s.former.has(hash) && !s.lifted.has(hash)
}

// set puts a user in or takes it out.
func (s *Suppressed) set(hash userHash, suppressed bool) {
	s.users.set(hash, suppressed)
	s.lifted.set(hash, false)
}

// lift takes out a user whom an earlier release suppressed.
func (s *Suppressed) lift(hash userHash) {
	s.users.set(hash, false)
	s.lifted.set(hash, true)
}

// earlier tells whether an earlier release suppressed a user.
func (s *Suppressed) earlier(hash userHash) bool { return s != nil && s.former.has(hash) }

// add puts in all users of a set that nobody else uses, and returns how many were in
// before that are not in that one. Those who were taken out stay out.
func (s *Suppressed) add(next *Suppressed) (missing int) {
	s.lifted.add(&next.lifted)
	return s.users.add(&next.users)
}

// users is a set of users. It changes in place,
// since a copy for each change would cost a moment of every process once there
// are hundreds of thousands, and it is cut into shards, so that those who look
// up do not wait for one another. The zero value is empty; all methods may be
// called at the same time.
type users struct {
	count  atomic.Int64
	shards [64]shard
}

type shard struct {
	mu    sync.RWMutex
	users map[userHash]struct{}
}

func (s *users) len() int {
	if s == nil {
		return 0
	}
	return int(s.count.Load())
}

func (s *users) has(hash userHash) bool {
	if s.len() == 0 {
		return false
	}
	shard := s.shard(hash)
	shard.mu.RLock()
	defer shard.mu.RUnlock()
	_, ok := shard.users[hash]
	return ok
}

// set puts a user in or takes it out.
func (s *users) set(hash userHash, suppressed bool) {
	shard := s.shard(hash)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	before := len(shard.users)
	if suppressed {
		if shard.users == nil {
			shard.users = make(map[userHash]struct{})
		}
		shard.users[hash] = struct{}{}
	} else {
		delete(shard.users, hash)
	}
	s.count.Add(int64(len(shard.users) - before))
}

// add puts in all users of a set that nobody else uses, and returns how many were in
// before that are not in that one.
func (s *users) add(next *users) (missing int) {
	for i := range s.shards {
		missing += s.shards[i].lacking(&next.shards[i])
		for hash := range next.shards[i].users {
			s.set(hash, true)
		}
	}
	return missing
}

// lacking returns how many users the other shard lacks.
func (s *shard) lacking(other *shard) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := 0
	for hash := range s.users {
		if _, ok := other.users[hash]; !ok {
			n++
		}
	}
	return n
}

func (s *users) shard(hash userHash) *shard { return &s.shards[int(hash[0])%len(s.shards)] }
