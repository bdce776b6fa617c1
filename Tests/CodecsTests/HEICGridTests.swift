import Testing
@Suite struct HEICGridTests {}
