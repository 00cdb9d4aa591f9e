// Command browser walks through the pages with a real browser, headless Chromium, and with the
// keyboard alone: it says who it is, reads the consent page as a screen reader would, unticks a
// scope, and lets a program in. Then it tries to frame the page and to answer it from another
// site, and watches the audit log while calls are made. Every page is searched for what breaks
// WCAG 2, level AA. It ends with status 1 if anything is not as it should be.
//
// The walk itself is in JavaScript, over Playwright: signin.mjs and audit.mjs, with what they
// share in pages.mjs. What is here starts a system for it (walk.go), is the program that people
// let in (site.go), and compares what the audit log holds afterwards.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/npm"
)

// home holds the scripts, as seen from the directory of go.mod.
var home = filepath.Join("infra", "browser")

// walkFor bounds the walk, without the installation.
const walkFor = 5 * time.Minute

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
	chromium, err := find()
	if err != nil {
		return err
	}
	if shots != "" {
		if shots, err = filepath.Abs(shots); err != nil {
			return err
		}
	}
	if err := npm.Install(ctx, "ci", home); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "browser-")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, walkFor)
	defer cancel()
	return errors.Join(walk(ctx, dir, chromium, shots), os.RemoveAll(dir))
}

func find() (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no browser is installed: run make browser, or install one of %v", names)
}
