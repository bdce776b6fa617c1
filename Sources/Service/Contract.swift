import CContract

/// The contract that this binary was built with.
enum Contract {
    /// openapi.yaml as it stands in the repository.
    static let text = Array(UnsafeBufferPointer(start: ccontract_openapi(), count: ccontract_openapi_count()))
}
