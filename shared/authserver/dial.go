package authserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// The address of a client's metadata document comes from a stranger, and is asked for from
// inside our network. So where a connection goes is decided on the address that is dialled,
// after the name was resolved: a name that resolves to something else the second time (DNS
// rebinding) gains nothing. A proxy of the environment would take that decision away, so none
// is used.

// fetchLife bounds one fetch, from the first look-up to the last byte.
const fetchLife = 5 * time.Second

// guardedClient returns the client that fetches documents. In local mode it also reaches this
// machine, if the address says so literally.
func guardedClient(local bool) *http.Client {
	dialer := &net.Dialer{Timeout: fetchLife, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return checkDial(address)
	}}
	loopback := &net.Dialer{Timeout: fetchLife, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return checkLoopback(address)
	}}
	return &http.Client{
		Timeout: fetchLife,
		// A redirect would let a document speak for an address that it is not at.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: nil,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				host, _, err := net.SplitHostPort(address)
				if err == nil && local && isThisMachine(host) {
					return loopback.DialContext(ctx, network, address)
				}
				return dialer.DialContext(ctx, network, address)
			},
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    fetchLife,
			ResponseHeaderTimeout:  fetchLife,
			MaxResponseHeaderBytes: 16 << 10,
			DisableCompression:     true, // a small answer could become a large one
			DisableKeepAlives:      true, // each fetch is decided anew
			ForceAttemptHTTP2:      true,
		},
	}
}

var errAddress = errors.New("this address is not public")

// checkDial lets pass what is on the public Internet, at the port of https.
func checkDial(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || to.Port() != 443 || !isPublic(to.Addr()) {
		return errAddress
	}
	return nil
}

func checkLoopback(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !to.Addr().Unmap().IsLoopback() {
		return errAddress
	}
	return nil
}

// isPublic tells whether an address is of the public Internet. IPv4 addresses that are written
// as IPv6 ones count as what they are; those that are carried inside others count as not public,
// for who unpacks them is not known.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	if ip.Zone() != "" {
		return false
	}
	if ip.Is6() && !globalUnicast6.Contains(ip) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(ip) {
			return false
		}
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate()
}

// globalUnicast6 is all of IPv6 that has been given out. Source: IANA, IPv6 address space.
var globalUnicast6 = netip.MustParsePrefix("2000::/3")

// notPublic are the networks that are not, or not only, reached over the Internet. Source: IANA,
// special-purpose address registries (RFC 6890), as of 2025.
var notPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}
