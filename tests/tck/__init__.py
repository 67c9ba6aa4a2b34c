"""The openCypher TCK, run unchanged: gherkin reads features, scenario runs one, run is the command line."""
