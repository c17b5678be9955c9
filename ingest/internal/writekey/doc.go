// Package writekey finds the write key of a request in the three places where
// SDKs put it (protocol, 3): the user name of Basic authentication, else the
// body, else the query. It does not know which keys are good.
package writekey
