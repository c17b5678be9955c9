// Package answer has the words in which a request is answered. Success is one
// body, byte for byte; every other answer is a Problem, whose body is a JSON object
// with the four members that SDKs look for (protocol, 1).
package answer
