// Package archive is being written.
package archive
