import Glibc

exit(run(CommandLine.arguments))
