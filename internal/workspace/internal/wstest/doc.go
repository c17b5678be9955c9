// Package wstest gives the tests of the workspace's packages the workspaces
// that they have in common. It is for _test.go files only.
package wstest
