// Package wsseal encrypts the secrets of destinations for the topic `workspace`, and
// makes them readable again for whoever delivers: shared secrets and the values of
// static headers, by AES-256-GCM under the keys of SECRETS_KEY.
//
//	ring    the keys, and how they are written down
//	sealed  one encrypted secret as text
//	seal    snapshots are sealed and opened
//
// A sealed secret names its key, and is bound to its place: to the destination and, for
// a header, to the endpoint's URL and the header's name. Whoever may write to the topic
// and has no key can't move it to another place, nor send a header's value to a URL of
// their own by writing that into the record (TestASealedSecretStaysInItsPlace). What they
// can do is to remove secrets, or to put older ones back.
//
// # Non-obvious
//
//   - Each sealing draws a nonce of its own, so the same secret never looks the same
//     twice. Whether a secret changed is decided on what it says, and one that did not
//     keeps its sealed form, or each apply would write every record anew
//     (TestWhatDidNotChangeKeepsItsForm).
//   - What can't be opened stays sealed and is no error here: the topic may hold one bad
//     record, and all other destinations have to be served (TestWhatCannotBeOpenedStaysSealed).
package wsseal
