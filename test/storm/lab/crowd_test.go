package lab

import (
	"math/rand/v2"
	"testing"
)

func TestCrowdNeverEmpties(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		there := map[int]bool{0: true, 1: true}
		for i, s := range Crowd(rng.IntN, 4, 2, 50) {
			if there[s.Member] == s.Joins {
				t.Fatalf("seed %d, step %d: %s, while its presence is %v", seed, i, s, there[s.Member])
			}
			there[s.Member] = s.Joins
			if !there[0] && !there[1] && !there[2] && !there[3] {
				t.Fatalf("seed %d, step %d: nobody is left", seed, i)
			}
		}
	}
}
