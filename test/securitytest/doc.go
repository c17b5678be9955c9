// Package securitytest tries the product on a real Apache Kafka that is secured:
// TLS, certificates of clients, SASL, and ACLs that allow what package acl lists
// and nothing else. It starts a broker of its own (scripts/kafka/kafka.sh), for
// which it makes the certificates.
//
// `make test-security` runs it. In `go test ./...` its tests skip.
package securitytest
