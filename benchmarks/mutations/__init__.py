"""Small mistakes made in the cluster's code, one at a time: do chaos or the tests of the room see each?"""
