// Package npm brings the programs and libraries of Node.js that checks of this project run.
// package.json and package-lock.json of a directory say which; no registry is named there, so
// npm takes its own setting.
package npm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Install brings what package-lock.json of the directory says into its node_modules, unless that
// is there already. The command is "ci" for exactly what is locked, or "install" for that with
// what is optional missing.
func Install(ctx context.Context, command, dir string) error {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not there: install Node.js 20 or later, with npm", program)
		}
	}
	if installed(dir) {
		return nil
	}
	cmd := exec.CommandContext(ctx, "npm", command, "--no-save", "--no-audit", "--no-fund", "--silent")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm %s in %s (Node.js 20 or later, and a registry of packages that npm reaches, are needed): %w", command, dir, err)
	}
	return nil
}

// installed tells whether npm has finished since the lock file changed: it writes its own account
// of node_modules last.
func installed(dir string) bool {
	locked, err := os.Stat(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return false
	}
	done, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json"))
	return err == nil && !done.ModTime().Before(locked.ModTime())
}
