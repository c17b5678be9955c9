// Package releasetest tries what is run once for a release: scripts/release.sh on a
// repository of its own, and scripts/pin-images.sh on copies of the files.
package releasetest
