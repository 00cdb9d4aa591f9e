// Command browser walks through signing in with a real browser, headless Chromium, and with the
// keyboard alone: it says who it is, reads the consent page as a screen reader would, unticks a
// scope, and lets the program in. Then it tries to frame the page and to answer it from another
// site, and watches the audit log while calls are made. It starts a system of its own and ends with status 1 if anything is not as it should be.
//
// It is for `make browser` and CI. It is no browser library: pipe.go speaks just as much of the
// DevTools protocol as is needed here, over a pipe, and needs nothing but the browser. Open
// steps.go and audit.go for what is tried.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

// walkFor bounds the whole walk.
const walkFor = 2 * time.Minute

// names are the programs that this one can drive, the lightest first.
var names = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

func main() {
	shots := flag.String("shots", "", "a directory for pictures of the pages; none are taken without it")
	flag.Parse()
	if err := run(*shots); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
	fmt.Println("browser: all is as it should be")
}

func run(shots string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, walkFor)
	defer cancel()
	program, err := find()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "browser-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := start(program, dir)
	if err != nil {
		return err
	}
	return errors.Join(walk(ctx, b, dir, shots), b.close())
}

func find() (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no browser is installed: run make browser, or install one of %v", names)
}
