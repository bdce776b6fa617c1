import Posix
import Storage
import Support
import Testing

@Suite struct SHA256Tests {
    /// FIPS 180-4's own examples (NIST, "SHA256.pdf"), and the digest of nothing.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]) func matchesTheStandard(text: String, hex: String) throws {
        #expect(SHA256.digest(of: try SealedFile.holding(Array(text.utf8), name: "test")).hex == hex)
    }

    @Test func matchesSha256sum() throws {
        let bytes = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        let told = try Tool.run(["sha256sum"], input: bytes)
        #expect(SHA256.digest(of: try SealedFile.holding(bytes, name: "test")).hex == told.text.prefix(64))
    }

    @Test func readsHexadecimalOfTheRightLengthOnly() throws {
        let digest = SHA256.digest(of: try SealedFile.holding([1, 2, 3], name: "test"))
        #expect(SHA256Digest(hex: digest.hex.utf8) == digest)
        #expect(SHA256Digest(hex: digest.hex.dropLast().utf8) == nil)
        #expect(SHA256Digest(hex: (digest.hex + "00").utf8) == nil)
        #expect(SHA256Digest(hex: ("g" + digest.hex.dropFirst()).utf8) == nil)
        #expect(SHA256Digest(hex: "".utf8) == nil)
    }
}
