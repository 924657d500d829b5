// jsoncpp has a harness of its own, which scripts/targets/public-bugs compiles.
