"""Joint coordinates: bodies that are carried by their parents along a tree of joints, as kernels.

Spatial vectors (angular, linear) have world axes and refer to the reference point of their body, taken as fixed in
space, so that a vector passes from a parent to its child by a shift alone [Featherstone 2008, chapter 2].
"""
