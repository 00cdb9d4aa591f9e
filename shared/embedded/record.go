package embedded

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// How an item lies in the file. In the bucket of its table:
//
//	key    length of PK (2 bytes, big endian), PK, SK
//	value  length of the head (uvarint), head (JSON, type head), document as it was given
//
// and for each index it is in, in the bucket of that index:
//
//	key    the same, of the index key
//	value  the key in the bucket of the table
//
// The length in front keeps partitions apart whatever bytes the keys hold, and within a
// partition the order of bbolt, byte by byte, is the order of the sort keys.

// head is all of an item but its key and its document.
type head struct {
	Version int64                `json:"v"`
	Index   map[string][2]string `json:"x,omitempty"`
	Expires int64                `json:"e,omitempty"` // Unix seconds; 0 is never
}

const pkLengthBytes = 2

// storedKey is the key in a bucket. A partition key is at most 2048 bytes (table.CheckKey).
func storedKey(pk, sk string) []byte {
	key := make([]byte, 0, pkLengthBytes+len(pk)+len(sk))
	key = binary.BigEndian.AppendUint16(key, uint16(len(pk)))
	key = append(key, pk...)
	return append(key, sk...)
}

// splitKey is the opposite of storedKey. What it returns is a copy.
func splitKey(key []byte) (pk, sk string, err error) {
	if len(key) < pkLengthBytes {
		return "", "", errors.New("data file: a key is too short")
	}
	n := int(binary.BigEndian.Uint16(key))
	rest := key[pkLengthBytes:]
	if n > len(rest) {
		return "", "", errors.New("data file: a key is cut off")
	}
	return string(rest[:n]), string(rest[n:]), nil
}

func encode(it table.Item) ([]byte, error) {
	h := head{Version: it.Version}
	if !it.ExpiresAt.IsZero() {
		h.Expires = it.ExpiresAt.Unix()
	}
	if len(it.Index) > 0 {
		h.Index = make(map[string][2]string, len(it.Index))
		for index, key := range it.Index {
			h.Index[string(index)] = [2]string{key.PK, key.SK}
		}
	}
	top, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode item: %w", err)
	}
	value := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen32+len(top)+len(it.Doc)), uint64(len(top)))
	value = append(value, top...)
	return append(value, it.Doc...), nil
}

// decode makes an item of a key and a value of bbolt, which are only good until the end of the
// transaction: nothing of them is kept.
func decode(name table.Name, key, value []byte) (table.Item, error) {
	pk, sk, err := splitKey(key)
	if err != nil {
		return table.Item{}, err
	}
	n, width := binary.Uvarint(value)
	if width <= 0 || n > uint64(len(value)-width) {
		return table.Item{}, errors.New("data file: an item is cut off")
	}
	top, doc := value[width:width+int(n)], value[width+int(n):]
	var h head
	if err := json.Unmarshal(top, &h); err != nil {
		return table.Item{}, fmt.Errorf("data file: read an item's head: %w", err)
	}
	it := table.Item{
		Key:     table.Key{Table: name, PK: pk, SK: sk},
		Doc:     append(json.RawMessage(nil), doc...),
		Version: h.Version,
	}
	if h.Expires != 0 {
		it.ExpiresAt = time.Unix(h.Expires, 0).UTC()
	}
	if len(h.Index) > 0 {
		it.Index = make(map[table.Index]table.IndexKey, len(h.Index))
		for index, key := range h.Index {
			it.Index[table.Index(index)] = table.IndexKey{PK: key[0], SK: key[1]}
		}
	}
	return it, nil
}
