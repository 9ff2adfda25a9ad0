"""When a finding became likely: continuations of its run from growing instants, and the share that has it."""
