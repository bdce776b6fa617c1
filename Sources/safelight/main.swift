import Glibc
import Service

exit(run(CommandLine.arguments))
