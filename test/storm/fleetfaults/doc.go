// Package fleetfaults has the rows about several instances of a stage: how they
// share the work and what that costs, how they come and go, and how one version
// takes over from another.
package fleetfaults
