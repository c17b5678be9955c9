// Package child runs the processes of a storm: started, killed, stopped and held
// up at will, and looked at through their admin pages.
package child
