// The simulated network is a library of its own; whoever tests with this module has it without a second import.
@_exported public import RTCShareNetworkSimulation
