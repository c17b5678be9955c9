// Package gate stands between the port of the embedded broker and kfake, which takes what it reads at its word.
//
// kfake makes room for a request by the four bytes that claim its size, and takes its kind from the next two: six bytes
// with a kind that does not exist ended the process, and "GET " made it allocate 1.2 GB. So a connection hands on a
// request when its size, kind and version have been looked at, and is closed otherwise.
//
// Until a client has authenticated, it may ask for versions and authenticate, in small requests and within seconds.
// Whatever kfake makes of other requests, it is at the hands of whoever knows the password.
//
// # Non-obvious
//
//   - kfake reads a request while the one before is answered, so to have seen the last message of an authentication is not
//     enough: the answer to it counts, which is written for a correct one alone (TestAnswersAuthenticateNotQuestions).
//   - kmsg counts tagged fields up to the number that a request claims, whether or not there are any bytes: eight bytes keep a
//     processor busy for half a minute. Before the authentication there may be none (TestRefusedBeforeAuthentication).
package gate
