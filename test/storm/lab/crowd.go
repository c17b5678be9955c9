package lab

import "fmt"

// Step of a plan: a member that is away joins, one that is there leaves.
type Step struct {
	Member int
	Joins  bool
}

// String is +3 for a member that joins, -3 for one that leaves.
func (s Step) String() string {
	if s.Joins {
		return fmt.Sprintf("+%d", s.Member)
	}
	return fmt.Sprintf("-%d", s.Member)
}

// Crowd makes a plan for members of which the first few are there at the start.
// At least one stays: a group of nobody delivers nothing.
func Crowd(intn func(int) int, members, present, steps int) []Step {
	there := make([]bool, members)
	for i := range present {
		there[i] = true
	}
	plan := make([]Step, 0, steps)
	for len(plan) < steps {
		m := intn(members)
		if there[m] && present == 1 {
			continue
		}
		there[m] = !there[m]
		if there[m] {
			present++
		} else {
			present--
		}
		plan = append(plan, Step{Member: m, Joins: there[m]})
	}
	return plan
}
