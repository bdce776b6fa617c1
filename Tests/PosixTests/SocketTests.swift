import Glibc
import Posix
import Testing

@Suite struct SocketTests {
    @Test func carriesMessagesWhole() throws {
        let pair = try SocketPair.make()
        try pair.near.send([1, 2, 3])
        try pair.near.send([4])
        #expect(try received(pair.far) == [1, 2, 3])
        #expect(try received(pair.far) == [4])
    }

    @Test func carriesDescriptorsInOrder() throws {
        let pair = try SocketPair.make()
        let files = try [SealedFile.holding([7], name: "a"), SealedFile.holding([8, 9], name: "b")]
        try pair.near.send([1], descriptors: files.map { $0.descriptor.raw })
        guard var message = try pair.far.receive(bytesMax: 8, descriptorsMax: 2) else {
            Issue.record("no message")
            return
        }
        #expect(message.descriptorCount == 2)
        for expected in [[7], [8, 9]] as [[UInt8]] {
            guard let descriptor = message.takeDescriptor() else {
                Issue.record("no descriptor")
                return
            }
            #expect(fcntl(descriptor.raw, F_GETFD) == FD_CLOEXEC)
            #expect(try SealedFile.received(descriptor).withBytes { Array($0) } == expected)
        }
        #expect(message.descriptorCount == 0)
    }

    @Test func closesDescriptorsThatNobodyTakes() throws {
        let pair = try SocketPair.make()
        let pipe = try SocketPair.make()
        try pair.near.send([1], descriptors: [pipe.far.descriptor.raw])
        let near = pipe.keepNear()
        do {
            let message = try pair.far.receive(bytesMax: 8, descriptorsMax: 1)
            #expect(waitReadable([near.descriptor.raw], untilMs: 0) == [false])
            #expect(message?.descriptorCount == 1)
        }
        #expect(try received(near) == nil)
    }

    @Test func refusesWhatIsTooLong() throws {
        let pair = try SocketPair.make()
        try pair.near.send([1, 2, 3])
        #expect(throws: PosixError(call: "recvmsg", errno: EMSGSIZE)) { try received(pair.far, bytesMax: 2) }
        try pair.near.send([1], descriptors: [pair.near.descriptor.raw])
        #expect(throws: PosixError(call: "recvmsg", errno: EMSGSIZE)) { try received(pair.far) }
        try pair.near.send([4])
        #expect(try received(pair.far) == [4])
    }

    @Test func tellsThatThePeerIsGone() throws {
        let pair = try SocketPair.make()
        try pair.far.send([1])
        let near = pair.keepNear()
        #expect(try received(near) == [1])
        #expect(try received(near) == nil)
        #expect(throws: PosixError(call: "sendmsg", errno: EPIPE)) { try near.send([1]) }
    }

    /// A peer that dies with messages unread gives ECONNRESET, which is an end like any other.
    @Test func aPeerGoneWithMessagesUnreadIsTheEnd() throws {
        let pair = try SocketPair.make()
        try pair.near.send([1])
        #expect(try received(pair.keepNear()) == nil)
    }

    @Test func neverWaitsForAPeerThatDoesNotRead() throws {
        let pair = try SocketPair.make()
        let error = #expect(throws: PosixError.self) {
            for _ in 0..<10_000 { try pair.near.send([UInt8](repeating: 0, count: 4096)) }
        }
        #expect(error?.errno == EAGAIN)
    }

    @Test func refusesAFileThatIsNotSealed() throws {
        let file = try MemoryFile(name: "open")
        #expect(throws: PosixError(call: "fcntl(F_GET_SEALS)", errno: EINVAL)) {
            _ = try SealedFile.received(try file.descriptor.duplicate())
        }
    }
}

private func received(_ socket: borrowing Socket, bytesMax: Int = 8) throws -> [UInt8]? {
    guard let message = try socket.receive(bytesMax: bytesMax, descriptorsMax: 0) else { return nil }
    return message.bytes
}
