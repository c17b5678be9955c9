// Package pipeline says what a stage of the pipeline is: one value, which the stage's
// package declares next to its constructor and package app puts into its list. What
// the process, the commands and the documents know of a stage, they know from there:
//
//   - the targets of the program, its help and its settings (package app);
//   - the topics that are created as it starts, and by `apply`;
//   - what it must be allowed on the brokers ([Stage.Role]);
//   - what is not deleted before it has read it ([Stages.Readers]);
//   - what `status` and `doctor` look at.
//
// CONTRIBUTING.md has the steps by which a stage is added.
//
//	stage    the value
//	process  what a process gives to a stage, and gets from it
//	stages   several of them
//	role     what one has to be allowed
package pipeline
