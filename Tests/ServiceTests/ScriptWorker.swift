import Foundation
import Support

/// A worker in Python, written from the protocol's description alone: it hands the input back as its output, calls it
/// 16x8, says that it kept what was asked for, and tells a make and a place whatever was asked for. With quality 1 it
/// says by a file that it has begun and takes a second; with quality 2 it refuses the picture.
struct ScriptWorker {
    let path: String

    /// Waits until a job of quality 1 has begun.
    func waitUntilBegun() {
        for _ in 0..<1000 where access(path + ".begun", F_OK) != 0 { usleep(10_000) }
    }

    init(in folder: ScratchFolder) throws {
        path = try folder.file("worker", Array(ScriptWorker.script.utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    private static let script = """
        #!/usr/bin/python3 -IS
        import array, os, socket, struct, time

        def number(value): return struct.pack('<q', value)
        def text(value): return number(len(value.encode())) + value.encode()

        def options(message):
            def word(at):
                end = at + 8 + struct.unpack_from('<q', message, at)[0]
                return message[at + 8:end].decode(), end
            kind, at = word(1)
            count, at, pairs = struct.unpack_from('<q', message, at)[0], at + 8, {}
            for _ in range(count):
                name, at = word(at)
                pairs[name], at = word(at)
            return kind, pairs

        # EXIF with a make; a capture that tells nothing; a place without anything beside it.
        disclosure = (bytes([1]) + number(1) + text('Make') + bytes([2]) + text('5ecret')
            + bytes([1]) + bytes(10) + bytes([1]) + text('present')
            + bytes([1]) + struct.pack('<dd', 48.858222, -2.2945) + bytes(6))

        line = socket.socket(fileno=3)
        line.send(bytes([3]))
        while True:
            message, ancillary, flags, peer = line.recvmsg(65536, socket.CMSG_SPACE(8))
            if not message: break
            source, target = array.array('i', ancillary[0][2])
            kind, asked = options(message)
            quality = int(asked.get('quality', 90))
            if quality == 1:
                open(__file__ + '.begun', 'w').close()
                time.sleep(1)
            if quality == 2:
                line.send(bytes([3, 1]) + text('corrupt') + text('not today') + bytes([0]))
            else:
                kept = [name for name in ('exif', 'gps') if asked.get(name) == 'keep']
                if kind == 'prepare': os.write(target, os.pread(source, os.fstat(source).st_size, 0))
                line.send(bytes([3, 0]) + text('copy') + number(16) + number(8) + number(0)
                    + text('jpeg') + number(16) + number(8) + bytes([1]) + text('none')
                    + text('sRGB') + text('sRGB') + number(1) + text('comment') + number(7)
                    + number(len(kept)) + b''.join(text(name) for name in kept) + disclosure
                    + number(1) + text('header_irregular'))
            os.close(source)
            os.close(target)

        """
}
