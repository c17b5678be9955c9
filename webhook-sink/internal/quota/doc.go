// Package quota says how much one destination may have beside all the others:
// attempts in flight, and bytes of events that wait for one. Its decisions have no
// effects.
package quota
