package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aacworkflow/mcp-connector/infra/proc"
)

// docker is a Docker daemon, and how to reach it.
type docker struct {
	env []string // of programs that use it, beside the usual ones
	cli string
	// stop ends the daemon, if it was started here.
	stop func() error
}

const (
	daemonStartsWithin = 30 * time.Second
	daemonStopsWithin  = 30 * time.Second
)

// findDocker returns the daemon that answers. Without one it starts its own if it may, which
// only root can: a throw-away daemon, with its files in a directory of its own.
func findDocker(ctx context.Context, mayStart bool) (*docker, error) {
	d := &docker{cli: installed("docker"), stop: func() error { return nil }}
	if _, err := d.run(ctx, nil, "version", "--format", "{{.Server.Version}}"); err == nil {
		return d, nil
	} else if !mayStart {
		return nil, fmt.Errorf("no Docker daemon answers: start Docker, then try again: %w", err)
	}
	return startDocker(ctx)
}

func startDocker(ctx context.Context) (*docker, error) {
	dir, err := os.MkdirTemp("", "aac-docker-")
	if err != nil {
		return nil, err
	}
	removeDir := func() error { return os.RemoveAll(dir) }
	bridge, removeBridge, err := makeBridge(ctx)
	if err != nil {
		return nil, errors.Join(err, removeDir())
	}
	daemon, d, err := launchDocker(dir, bridge)
	if err != nil {
		return nil, errors.Join(err, removeBridge(), removeDir())
	}
	d.stop = func() error {
		return errors.Join(daemon.Stop(syscall.SIGTERM, daemonStopsWithin), removeBridge(), removeDir())
	}
	err = daemon.WaitUntil(ctx, daemonStartsWithin, func(ctx context.Context) error {
		_, err := d.run(ctx, nil, "version", "--format", "{{.Server.Version}}")
		return err
	})
	if err != nil {
		said, _ := os.ReadFile(filepath.Join(dir, daemonLog))
		return nil, errors.Join(fmt.Errorf("the Docker daemon does not answer: %w: %s", err, proc.LastLines(said, 5)), d.stop())
	}
	return d, nil
}

const daemonLog = "log"

// launchDocker starts the daemon with all its files in dir. The functions reach this machine and
// nothing else, so it leaves the firewall and the forwarding of packets alone.
func launchDocker(dir, bridge string) (*proc.Process, *docker, error) {
	log, err := os.Create(filepath.Join(dir, daemonLog))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	socket := "unix://" + filepath.Join(dir, "docker.sock")
	cmd := exec.Command(installed("dockerd"), "--host", socket, "--pidfile", filepath.Join(dir, "pid"),
		"--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"), "--bridge", bridge,
		"--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false",
		"--userland-proxy-path", installed("docker-proxy"))
	cmd.Env = append(os.Environ(), "PATH="+dockerPath()+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = log, log
	daemon, err := proc.Start("dockerd", cmd)
	if err != nil {
		return nil, nil, fmt.Errorf("start a Docker daemon: %w; install dockerd (make sam-local-test does) and be root, or start Docker", err)
	}
	return daemon, &docker{env: []string{"DOCKER_HOST=" + socket}, cli: installed("docker")}, nil
}

// makeBridge makes a network bridge for one daemon, with addresses that no other network here
// has: two daemons on the same bridge would give their containers the same addresses.
func makeBridge(ctx context.Context) (name string, remove func() error, err error) {
	address, err := freeNetwork()
	if err != nil {
		return "", nil, err
	}
	name = fmt.Sprintf("aac%d", os.Getpid()) // at most 15 bytes
	ip := func(ctx context.Context, args ...string) error {
		if out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s; be root, and have iproute2 installed, or start Docker", strings.Join(args, " "), err, proc.LastLines(out, 1))
		}
		return nil
	}
	if err := ip(ctx, "link", "add", "name", name, "type", "bridge"); err != nil {
		return "", nil, err
	}
	remove = func() error { return ip(context.Background(), "link", "delete", name) }
	if err := errors.Join(ip(ctx, "address", "add", address, "dev", name), ip(ctx, "link", "set", name, "up")); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return name, remove, nil
}

// freeNetwork returns this machine's address in a private network that overlaps with none it
// has, with the length of the prefix.
func freeNetwork() (string, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for third := range 256 {
		ours := netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 30, byte(third), 1}), 24)
		taken := slices.ContainsFunc(addresses, func(a net.Addr) bool {
			theirs, err := netip.ParsePrefix(a.String())
			return err == nil && theirs.Overlaps(ours)
		})
		if !taken {
			return ours.String(), nil
		}
	}
	return "", errors.New("no network below 172.30.0.0/16 is free: start Docker")
}

// run runs the docker command and returns what it prints.
func (d *docker) run(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, d.cli, args...)
	cmd.Env = append(os.Environ(), d.env...)
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, proc.LastLines(stderr.Bytes(), 3))
	}
	return strings.TrimSpace(out.String()), nil
}

// hostName is how containers call this machine.
const hostName = "host.docker.internal"

// hostAddress returns the address at which this machine must listen for containers to reach it,
// and whether they must be told that it is hostName.
//
// With Docker Engine on Linux that is this machine's end of the default bridge, which nothing
// outside reaches. With Docker Desktop and its like containers run in a virtual machine, which
// leads hostName to this machine's loopback interface.
func (d *docker) hostAddress(ctx context.Context) (addr string, tell bool, err error) {
	bridge, err := d.run(ctx, nil, "network", "inspect", "bridge", "--format", `{{index .Options "com.docker.network.bridge.name"}}`)
	if err != nil {
		return "", false, err
	}
	if ours, err := net.InterfaceByName(bridge); err == nil {
		addrs, err := ours.Addrs()
		if err != nil {
			return "", false, err
		}
		for _, a := range addrs {
			if network, ok := a.(*net.IPNet); ok && network.IP.To4() != nil {
				return network.IP.String(), true, nil
			}
		}
	}
	return "127.0.0.1", false, nil
}

// imageFor is the image in which sam local runs functions of the runtime provided.al2023.
func imageFor(architecture string) string {
	return "public.ecr.aws/lambda/provided:al2023-" + architecture
}

// ensureImage makes sure that there is an image: one that is there, or the public one, or a
// stand-in. It says which.
func (d *docker) ensureImage(ctx context.Context, image string) (which string, err error) {
	if _, err := d.run(ctx, nil, "image", "inspect", image); err == nil {
		return "the image that is there", nil
	}
	if d.env == nil { // a daemon of the user's, which may have the way and the right to pull
		pull, cancel := context.WithTimeout(ctx, 5*time.Minute)
		defer cancel()
		if _, err := d.run(pull, nil, "pull", "--quiet", image); err == nil {
			return "the public image", nil
		}
	}
	layer, err := standIn(".tools/docker/bin/busybox") // a static one, unlike many a machine's own
	if err != nil {
		return "", fmt.Errorf("make a stand-in for the image %s, which cannot be pulled: %w; on Debian, make .tools/docker/installed fetches what it takes", image, err)
	}
	if _, err := d.run(ctx, layer, "import", "--change", "WORKDIR /var/task", "-", image); err != nil {
		return "", err
	}
	return "a stand-in of the public image", nil
}

// standIn is the least that sam local needs of an image: it runs mv and chmod in it by a shell,
// to put its runtime interface emulator there. Our functions are static programs.
func standIn(busybox string) (io.Reader, error) {
	program, err := os.ReadFile(busybox)
	if err != nil {
		return nil, err
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	put := func(h tar.Header, content []byte) {
		h.Size = int64(len(content))
		err = errors.Join(err, w.WriteHeader(&h))
		_, writeErr := w.Write(content)
		err = errors.Join(err, writeErr)
	}
	for _, dir := range []string{"bin/", "opt/", "var/task/", "var/runtime/", "etc/"} {
		put(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}, nil)
	}
	put(tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil)
	put(tar.Header{Typeflag: tar.TypeReg, Name: "bin/busybox", Mode: 0o755}, program)
	for _, name := range []string{"sh", "mv", "chmod", "cp", "rm", "mkdir"} {
		put(tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "busybox", Mode: 0o777}, nil)
	}
	return &layer, errors.Join(err, w.Close())
}

// Where make puts the programs of Debian's packages, below the working directory.
var dockerDirs = []string{".tools/docker/usr/sbin", ".tools/docker/usr/bin", ".tools/docker/bin"}

func dockerPath() string {
	var all []string
	for _, dir := range dockerDirs {
		if abs, err := filepath.Abs(dir); err == nil {
			all = append(all, abs)
		}
	}
	return strings.Join(all, string(os.PathListSeparator))
}

// installed returns the path of one of Docker's programs: the machine's, else the one that make
// put under .tools, else its bare name.
func installed(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range filepath.SplitList(dockerPath()) {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
	}
	return name
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
