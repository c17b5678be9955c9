package doctor

import "syscall"

// synchronised reports what the kernel says of its clock.
func synchronised() bool {
	const timeError = 5 // TIME_ERROR: not synchronised
	state, err := syscall.Adjtimex(new(syscall.Timex))
	return err != nil || state != timeError
}
