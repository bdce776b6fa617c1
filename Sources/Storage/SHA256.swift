import CCrypto
package import Posix

/// A SHA-256 digest (FIPS 180-4): 32 bytes.
package struct SHA256Digest: Sendable, Hashable {
    package static let count = 32
    package let bytes: [UInt8]

    fileprivate init(bytes: [UInt8]) {
        precondition(bytes.count == SHA256Digest.count)
        self.bytes = bytes
    }

    /// The digest written as 64 hexadecimal digits, or nil where `hex` is not that.
    package init?(hex: some Sequence<UInt8>) {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in hex {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue.map({ UInt8($0) }) else { return nil }
            if let top = high {
                bytes.append(top << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        guard high == nil, bytes.count == SHA256Digest.count else { return nil }
        self.bytes = bytes
    }

    /// 64 lower-case hexadecimal digits.
    package var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// Owns a running SHA-256 of libcrypto, which uses the processor's instructions for it.
package struct SHA256: ~Copyable {
    private let raw: OpaquePointer

    package init() {
        // Both fail only for want of memory, or of the algorithm, which no build of libcrypto lacks.
        guard let raw = EVP_MD_CTX_new(), EVP_DigestInit_ex(raw, EVP_sha256(), nil) == 1 else {
            fatalError("libcrypto has no memory for SHA-256")
        }
        self.raw = raw
    }

    deinit { EVP_MD_CTX_free(raw) }

    /// Takes the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard EVP_DigestUpdate(raw, bytes.baseAddress, bytes.count) == 1 else { fatalError("SHA-256 cannot fail") }
    }

    /// The digest of all that was taken.
    package consuming func finish() -> SHA256Digest {
        var bytes = [UInt8](repeating: 0, count: SHA256Digest.count)
        guard EVP_DigestFinal_ex(raw, &bytes, nil) == 1 else { fatalError("SHA-256 cannot fail") }
        return SHA256Digest(bytes: bytes)
    }

    /// The digest of a whole sealed file.
    package static func digest(of file: SealedFile) -> SHA256Digest {
        file.withBytes { bytes in
            var hash = SHA256()
            hash.update(bytes)
            return hash.finish()
        }
    }
}
