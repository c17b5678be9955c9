// Package stack drives one Docker Compose project through the tools that people
// type: `docker compose`, or `docker-compose` where that is what there is.
package stack
