// Package quota says how much one destination may have beside all the others: attempts
// in flight, of live events and of replays behind them, and bytes of events that wait for
// one. Its decisions have no effects.
//
// # Non-obvious
//
//   - A destination whose first attempts hang would hold as many slots as it may; it
//     earns them by deliveries (TestADestinationEarnsItsSlots in package dispatch,
//     TestSharesOfDestinationsThatHang). While it is down its attempts are withheld,
//     which is quick, so it gets some again.
package quota
