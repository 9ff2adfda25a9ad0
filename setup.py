"""The build: in a wheel the five packages of the checkout are ``understudy.emulator``, ``understudy.scenarios``, ….

In the checkout they are top-level packages, and ``from emulator.kernel import World`` is how its code imports them. In
another project's environment names such as ``controller`` may be taken, so there they come under one name. The build
copies each module to its place and puts ``understudy.`` before the packages' names in its import statements; line
numbers stay. Everything else that names a module derives it from ``__name__`` or ``__package__``, and the tests in
tests/packaging install the wheel beside packages that are called ``scenarios`` and ``controller``.

An editable installation (``./understudy``) changes nothing: it finds the five packages where they are.
"""

import re
import shutil
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

NAME = "understudy"
FACE = "scenarios/package/understudy"
"""The package that other projects import."""

FOR_SPARK, FOR_SPARK_IN = "pyspark_understudy", "scenarios/package/pyspark_understudy"
"""The package in which Spark finds the data source. It looks at names that begin with ``pyspark_`` only."""

FLOORS = ("emulator", "fetchers", "brokers", "controller", "scenarios")
IMPORT = re.compile(rf"^(\s*from )(?=(?:{'|'.join(FLOORS)})(?:\.\w+)* import )", re.MULTILINE)
DATA = {
    "scenarios": [
        "library/*.toml",
        "library/*.json",
        "museum/cases/*.toml",
        "museum/*.json",
        "chaos/*.toml",
        "studies/atlas/web/*",
        "studies/clients/*.toml",
        "studies/clients/drivers/*.java",
        "studies/clients/drivers/*.cjs",
        "studies/clients/drivers/*.mjs",
        "studies/clients/drivers/franz/*",
        "studies/library/*.toml",
        "studies/report/assets/*.js",
        "studies/report/assets/*.css",
        "studies/report/assets/*.txt",
    ]
}


class BuildPy(build_py):
    """Copies modules, and renames the packages in their imports."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)  # it may hold modules of an earlier build
        super().run()

    def build_module(self, module, module_file, package):  # type: ignore[no-untyped-def]
        outfile, copied = super().build_module(module, module_file, package)
        path = Path(outfile)
        path.write_text(IMPORT.sub(rf"\1{NAME}.", path.read_text(encoding="utf-8")), encoding="utf-8")
        return outfile, copied


def packages() -> list[str]:
    return [package for floor in FLOORS for package in (floor, *(f"{floor}.{p}" for p in find_packages(floor)))]


if "editable_wheel" in sys.argv:
    setup(
        packages=[NAME, FOR_SPARK, *packages()],
        package_dir={NAME: FACE, FOR_SPARK: FOR_SPARK_IN},
        package_data=DATA,
    )
else:
    setup(
        packages=[NAME, FOR_SPARK, *(f"{NAME}.{package}" for package in packages())],
        package_dir={NAME: FACE, FOR_SPARK: FOR_SPARK_IN, **{f"{NAME}.{floor}": floor for floor in FLOORS}},
        package_data={NAME: ["py.typed"], **{f"{NAME}.{package}": files for package, files in DATA.items()}},
        cmdclass={"build_py": BuildPy},
    )
