/// The version of the program and of the contract.
package enum Version {
    package static let text = "0.1.0"
}
