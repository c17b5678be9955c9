package regulation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
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

// Suppressed are the users whose calls are dropped. The zero value is empty and has no
// keys; all methods may be called at the same time.
type Suppressed struct {
	users users        // by a hash without a key
	keyed []keyedUsers // by the keys of this process, the current one first
	// Of the topic `workspace`, where earlier releases wrote: who is suppressed there,
	// and of those, who no longer is. Nil: it is not followed.
	former *users
	lifted users

	missing missing
	passed  passed
}

type keyedUsers struct {
	*hashKey

	users *users
}

// setKeys is called once, before anything else.
func (s *Suppressed) setKeys(keys *Keys) {
	if keys == nil {
		return
	}
	for _, k := range keys.keys {
		s.keyed = append(s.keyed, keyedUsers{k, new(users)})
	}
}

// Len returns how many users are suppressed whom this process can recognise. Who is so
// in both topics, or under several keys, counts more than once.
func (s *Suppressed) Len() int {
	n := s.users.len() + s.former.len() - s.lifted.len()
	for _, k := range s.keyed {
		n += k.users.len()
	}
	return n
}

// ByKey returns how many users are suppressed under each key, by its id, those without a
// key under "", and those of keys that this process lacks too.
func (s *Suppressed) ByKey() map[string]int {
	all := map[string]int{"": s.users.len()}
	for _, k := range s.keyed {
		all[k.id] = k.users.len()
	}
	for _, key := range s.missing.keys() {
		all[key] = s.missing.of(key).len()
	}
	maps.DeleteFunc(all, func(_ string, n int) bool { return n == 0 })
	return all
}

// Missing returns the ids of keys that this process lacks and that users are suppressed
// under, and how many these are: their calls are not recognised.
func (s *Suppressed) Missing() (keys []string, users int) {
	keys = s.missing.keys()
	for _, key := range keys {
		users += s.missing.of(key).len()
	}
	return keys, users
}

// Recognised returns an error when users are suppressed who can't be told from others: what
// was sent of them can't be taken back.
func (s *Suppressed) Recognised() error {
	lacking, users := s.Missing()
	if users == 0 {
		return nil
	}
	return fmt.Errorf("users (%d) are suppressed under keys that SUPPRESSION_KEY lacks (%s), so their events can't be left out: set it as ingest has it", users, strings.Join(lacking, ", "))
}

// Has tells whether the user with an id is suppressed: the text of the id as it
// stands in events, not its JSON. It allocates nothing, and costs next to nothing
// while nobody is suppressed.
func (s *Suppressed) Has(userID []byte) bool {
	for i, k := range s.keyed {
		if k.users.len() == 0 {
			continue
		}
		if hash := k.hash(userID); k.users.has(hash) {
			if i > 0 {
				s.passed.note(alias{k.id, hash}, s.current(userID))
			}
			return true
		}
	}
	if s.users.len() == 0 && s.former.len() == 0 {
		return false
	}
	hash := hashOf(userID)
	if s.users.has(hash) {
		if len(s.keyed) > 0 {
			s.passed.note(alias{hash: hash}, s.current(userID))
		}
		return true
	}
	return s.former.has(hash) && !s.lifted.has(hash)
}

// current is what stands for a user in new records.
func (s *Suppressed) current(userID []byte) alias {
	if s == nil || len(s.keyed) == 0 {
		return alias{hash: hashOf(userID)}
	}
	return alias{s.keyed[0].id, s.keyed[0].hash(userID)}
}

// outdated are the other aliases that a user is suppressed under now.
func (s *Suppressed) outdated(userID []byte) (all []alias) {
	if s == nil || len(s.keyed) == 0 {
		return nil
	}
	for _, k := range s.keyed[1:] {
		if hash := k.hash(userID); k.users.has(hash) {
			all = append(all, alias{k.id, hash})
		}
	}
	if hash := hashOf(userID); s.users.has(hash) {
		all = append(all, alias{hash: hash})
	}
	return all
}

// set puts a user in or takes it out.
func (s *Suppressed) set(a alias, suppressed bool) {
	s.of(a.key).set(a.hash, suppressed)
	if a.key == "" {
		s.lifted.set(a.hash, false)
	}
	s.missing.tell()
}

// has tells whether a user is suppressed under an alias.
func (s *Suppressed) has(a alias) bool { return s.of(a.key).has(a.hash) }

func (s *Suppressed) of(key string) *users {
	if key == "" {
		return &s.users
	}
	for _, k := range s.keyed {
		if k.id == key {
			return k.users
		}
	}
	return s.missing.of(key)
}

// lift takes out a user whom an earlier release suppressed.
func (s *Suppressed) lift(hash userHash) {
	s.users.set(hash, false)
	s.lifted.set(hash, true)
}

// earlier tells whether an earlier release suppressed a user.
func (s *Suppressed) earlier(hash userHash) bool { return s != nil && s.former.has(hash) }

// add puts in all users of a set that nobody else uses and that has the same keys, and
// returns how many were in before that are not in that one. Those who were taken out
// stay out.
func (s *Suppressed) add(next *Suppressed) (missing int) {
	s.lifted.add(&next.lifted)
	missing = s.users.add(&next.users)
	for i, k := range s.keyed {
		missing += k.users.add(next.keyed[i].users)
	}
	for _, key := range next.missing.keys() {
		s.missing.of(key).add(next.missing.of(key))
	}
	s.missing.tell()
	return missing
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
