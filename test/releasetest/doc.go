// Package releasetest tries scripts/release.sh on a repository of its own.
package releasetest
