// Command local runs the whole system in one process, with demo data, without any account.
//
// It is not for a deployed connector: there, each function is a program of its own. Open run.go
// for what it reads and prints, system/wire.go for how the parts are put together.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }
