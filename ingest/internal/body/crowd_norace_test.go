//go:build !race

package body

import "testing"

func notUnderRace(*testing.T) {}
