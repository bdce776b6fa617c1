import Container
import Core

extension JPEGStructure {
    /// The classes of what was found, without their bytes.
    var removed: Set<Removable> { Set(found.keys) }
}

extension HEIFStructure {
    /// The classes of what was found, without their bytes.
    var removed: Set<Removable> { Set(found.keys) }
}

extension EmbeddedProfile {
    var isDamaged: Bool { if case .damaged = self { true } else { false } }
}
