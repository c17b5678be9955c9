// Package lookup has the questions to brokers that several packages below
// internal/kafka ask.
package lookup
