// Package guard keeps deliveries away from addresses that are not public.
//
// Customers choose the URLs, so a URL may name the cloud's metadata service, a
// database behind the firewall or this very process. A check of the host name
// is no defence: a name resolves to whatever its owner likes, and to something
// else a second later. The guard therefore looks at the one thing that can't
// lie, the literal address handed to connect(2), by way of
// net.Dialer.ControlContext.
//
// # Non-obvious
//
//   - Not all that an outsider must not reach is in a private block: 168.63.129.16 is Azure's, and what listens on a public
//     address of this machine, or of this company, often trusts who comes from there (TestSpecialBlocksAreRefused,
//     TestTheMachineItselfIsRefused, TestDeniedNetworksAreRefused).
//   - A firewall that is written by hand lacks blocks: deploy's policy is compared with the table here
//     (TestThePolicyClosesWhatTheSinkRefuses in deploy).
//   - The literal address is judged in the dialer's control hook
//     (TestControlReadsTheDialedAddress). A check of the name, or of an earlier lookup,
//     can be answered differently the next time (TestNamesThatChangeTheirAnswer in
//     package resolve).
package guard
