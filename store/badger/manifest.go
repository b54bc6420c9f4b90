package badger

import (
	"encoding/binary"
	"hash/crc32"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"google.golang.org/protobuf/proto"

	"skink/store/disk"
)

func tableName(id uint64) string { return table.IDToFilename(id) }

const badgerVersion = 8

// writeManifest writes a MANIFEST as badger does: "Bdgr", the application's number, badger's
// version, and then one entry, with its length and checksum, that names all tables. The file
// appears under its name only when it is complete.
func writeManifest(name string, m badgerdb.Manifest) error {
	var set pb.ManifestChangeSet
	for id, t := range m.Tables {
		set.Changes = append(set.Changes, &pb.ManifestChange{
			Id: id, Op: pb.ManifestChange_CREATE, Level: uint32(t.Level), KeyId: t.KeyID, Compression: uint32(t.Compression),
		})
	}
	entry, err := proto.Marshal(&set)
	if err != nil {
		return err
	}
	b := append([]byte("Bdgr"), skinkMagic, layoutVersion, 0, badgerVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(len(entry)))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(entry, castagnoli))
	return disk.Replace(name, append(b, entry...))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
